import { createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/**
 * A receiver's check, written after the scheme that Standard Webhooks publishes: the id, the time and the body as they
 * came, joined by dots, under the secret's bytes; one of the signatures has to be right, and the time near.
 *
 * @param now seconds since the epoch
 */
export function verifyWebhook(secret: string, headers: IncomingHttpHeaders, body: string, now: number): boolean {
  const id = headers["webhook-id"];
  const timestamp = headers["webhook-timestamp"];
  const signatures = headers["webhook-signature"];
  if (typeof id !== "string" || typeof timestamp !== "string" || typeof signatures !== "string") return false;
  if (Math.abs(now - Number(timestamp)) > 5 * 60) return false;
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const wanted = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest();
  return signatures.split(" ").some((one) => {
    const [version, encoded = ""] = one.split(",");
    const given = Buffer.from(encoded, "base64");
    return version === "v1" && given.length === wanted.length && timingSafeEqual(given, wanted);
  });
}
