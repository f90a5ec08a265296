import { createHmac } from "node:crypto";

/**
 * Returns the headers of a delivery by Standard Webhooks, with a signature of id, time and body by each of the keys.
 *
 * @param at seconds since the epoch
 */
export function signedHeaders(
  { id, at, body }: { readonly id: string; readonly at: number; readonly body: string },
  keys: readonly Uint8Array[],
): Record<string, string> {
  const signatures = keys.map(
    (key) => `v1,${createHmac("sha256", key).update(`${id}.${at}.${body}`).digest("base64")}`,
  );
  return {
    "content-type": "application/json",
    "user-agent": "Keyplane-Webhooks",
    "webhook-id": id,
    "webhook-timestamp": String(at),
    "webhook-signature": signatures.join(" "),
  };
}
