import type { PlatformTeamSpec } from "../kinds/generated/platform-team.ts";

/** What a webhook can be notified of, as declarations name it. */
export type WebhookEvent = PlatformTeamSpec["webhooks"][number]["events"][number];

/** A webhook's signing secret: what follows the prefix is this many bytes in base64 (Standard Webhooks). */
const SECRET = /^whsec_([A-Za-z0-9+/]{32,88}={0,2})$/;
const [MIN_BYTES, MAX_BYTES] = [24, 64];
/** The one that comes, and the one that goes. */
const MAX_SECRETS = 2;

/** The keys of a text of signing secrets, with white space between them; undefined for one that holds another thing. */
export function parseWebhookSecrets(text: string): Uint8Array[] | undefined {
  const words = text.trim().split(/\s+/);
  const keys = words.map((word) => {
    const encoded = SECRET.exec(word)?.[1];
    const bytes = Buffer.from(encoded ?? "", "base64");
    return bytes.toString("base64") === encoded && bytes.length >= MIN_BYTES && bytes.length <= MAX_BYTES
      ? bytes
      : null;
  });
  const good = keys.filter((key) => key !== null);
  return good.length === words.length && words.length <= MAX_SECRETS ? good : undefined;
}
