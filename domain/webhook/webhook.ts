import type { PlatformTeamSpec } from "../kinds/generated/platform-team.ts";

/** Event that a webhook can be notified of, as declarations name it. */
export type WebhookEvent = PlatformTeamSpec["webhooks"][number]["events"][number];

/** Pattern of a webhook's signing secret: behind the prefix, MIN_BYTES to MAX_BYTES in base64 (Standard Webhooks). */
const SECRET = /^whsec_([A-Za-z0-9+/]{32,88}={0,2})$/;
const [MIN_BYTES, MAX_BYTES] = [24, 64];
/** Maximum number of signing secrets: the present secret and its replacement. */
const MAX_SECRETS = 2;

/** Parses signing secrets, separated by white space, into their keys; undefined if the text has anything else. */
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
