/** A try that takes so long is slow, as is its webhook until another one is not. Milliseconds. */
const SLOW_MS = 1_000;
/** Slow webhooks that are remembered. */
const MAX_SLOW = 1_000;

/** A try of one of a webhook's deliveries, and when it began: milliseconds on a clock that never jumps. */
type Begun = { readonly webhookId: string; readonly since: number };

/** Knows which webhooks' receivers take long, by the last tries of this process. */
export class SlowWebhooks {
  readonly #slow = new Set<string>();

  /** Notes a try that has ended. */
  end({ webhookId, since }: Begun, now: number): void {
    this.#slow.delete(webhookId);
    if (now - since <= SLOW_MS) return;
    const [oldest] = this.#slow;
    if (oldest !== undefined && this.#slow.size >= MAX_SLOW) this.#slow.delete(oldest);
    this.#slow.add(webhookId);
  }

  /** The ids of those that are slow: also where it is a try under way that takes long. */
  at(now: number, underWay: readonly Begun[]): ReadonlySet<string> {
    const taking = underWay.filter(({ since }) => now - since > SLOW_MS);
    return new Set([...this.#slow, ...taking.map(({ webhookId }) => webhookId)]);
  }
}

/** The share of tries that slow webhooks leave to the others, and the others to them. */
const KEPT = 1 / 4;

/**
 * How many tries may begin: first of webhooks that are not slow, then of any.
 *
 * @param all that a process has under way at most
 * @param slow those under way of slow webhooks
 */
export function freeTries(
  all: number,
  underWay: number,
  slow: number,
): { readonly quick: number; readonly any: number } {
  const kept = all * KEPT;
  return { quick: all - underWay - Math.max(0, kept - slow), any: all - kept - slow };
}
