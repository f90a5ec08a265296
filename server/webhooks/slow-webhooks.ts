/** Milliseconds after which an attempt is slow. Its webhook counts as slow until another attempt is not. */
const SLOW_MS = 1_000;
/** Maximum number of slow webhooks that are remembered. */
const MAX_SLOW = 1_000;

/** Attempt of a webhook's delivery, and its start in milliseconds on a clock that never jumps. */
type StartedDelivery = { readonly webhookId: string; readonly since: number };

/** Remembers webhooks with slow receivers, by the last attempts of this process. */
export class SlowWebhooks {
  readonly #slow = new Set<string>();

  /** Notes an attempt that has ended. */
  end({ webhookId, since }: StartedDelivery, now: number): void {
    this.#slow.delete(webhookId);
    if (now - since <= SLOW_MS) return;
    const [oldest] = this.#slow;
    if (oldest !== undefined && this.#slow.size >= MAX_SLOW) this.#slow.delete(oldest);
    this.#slow.add(webhookId);
  }

  /** Returns the ids of slow webhooks, including those with a slow attempt under way. */
  at(now: number, underWay: readonly StartedDelivery[]): ReadonlySet<string> {
    const taking = underWay.filter(({ since }) => now - since > SLOW_MS);
    return new Set([...this.#slow, ...taking.map(({ webhookId }) => webhookId)]);
  }
}

/** Share of attempts that slow webhooks leave to the others, and the others to them. */
const KEPT = 1 / 4;

/**
 * Returns how many attempts may begin: first of webhooks that are not slow, then of any.
 *
 * @param all maximum number under way in a process
 * @param slow number under way for slow webhooks
 */
export function freeTries(
  all: number,
  underWay: number,
  slow: number,
): { readonly quick: number; readonly any: number } {
  const kept = all * KEPT;
  return { quick: all - underWay - Math.max(0, kept - slow), any: all - kept - slow };
}
