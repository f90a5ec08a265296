import { rfc3339Millis } from "../../domain/rfc3339.ts";
import { isEndpointGone, pauseAfter } from "../../domain/webhook/retry.ts";
import { parseWebhookSecrets } from "../../domain/webhook/webhook.ts";
import { type Keyring, openSealed } from "../../store/encryption/keyring.ts";
import type { ClaimedDelivery, Settlement } from "../../store/webhooks/claims.ts";
import type { GuardedPosts, PostOutcome } from "../gateway/upstream/guarded-post.ts";
import { signedHeaders } from "./signature.ts";

/** Dependencies of a delivery attempt. */
export type Delivering = {
  readonly posts: Pick<GuardedPosts, "post">;
  readonly keyring: Keyring;
  /** Returns a random number from 0 up to, but not including, 1. */
  readonly random: () => number;
};

/** Attempts a delivery once. Never fails. */
export async function deliver(
  { posts, keyring, random }: Delivering,
  delivery: ClaimedDelivery,
  signal: AbortSignal,
): Promise<Settlement> {
  const outcome = await post(delivery, keyring, posts, signal);
  const status = "status" in outcome ? outcome.status : null;
  if (status !== null && status >= 200 && status < 300) return { state: "delivered", status, why: null };
  const why = "why" in outcome ? outcome.why : refusalOf(outcome.status);
  const asked = "status" in outcome ? outcome.retryAfterMs : undefined;
  const pauseMs = isEndpointGone(status) ? undefined : pauseAfter(delivery.tries + 1, random(), asked);
  return pauseMs === undefined ? { state: "failed", status, why } : { state: "pending", status, why, pauseMs };
}

async function post(
  { id, webhookId, teamId, url, event, at, data, sealed, now }: ClaimedDelivery,
  keyring: Keyring,
  posts: Delivering["posts"],
  signal: AbortSignal,
): Promise<PostOutcome> {
  if (sealed === null) return { why: "the webhook has no signing secret" };
  const secret = openSealed(keyring, sealed, webhookId);
  const keys = secret === null ? undefined : parseWebhookSecrets(secret);
  if (keys === undefined)
    return { why: "the webhook's signing secret does not open with the encryption keys of this server" };
  // Its form is checked at its declaration, but not the number of its port.
  if (!URL.canParse(url)) return { why: "its URL cannot be read" };
  const body = JSON.stringify({ type: event, timestamp: rfc3339Millis(at), data });
  const headers = signedHeaders({ id, at: Math.floor(now / 1_000), body }, keys);
  return posts.post({ holder: teamId, url: new URL(url), headers, body }, signal);
}

function refusalOf(status: number): string {
  if (status >= 300 && status < 400) return `answered ${status}: redirects are not followed`;
  return isEndpointGone(status) ? "answered 410: it wants no more of this" : `answered ${status}`;
}
