/**
 * Interim answers to one request at most. A server sends one or two, or 102 now and then; each costs us more than it
 * costs the sender.
 */
const MAX_INTERIM_ANSWERS = 100;

/** Error for an upstream that goes on with interim answers (1xx) instead of an answer. */
class InterimAnswersError extends Error {
  override name = "InterimAnswersError";
  readonly code = "TOO_MANY_INTERIM_ANSWERS";
}

/**
 * Bounds the interim answers to one request. Its error, thrown in the dispatcher's handler, ends the request and its
 * socket: no timeout for a head does so before its time, and such a flood keeps the event loop busy until then.
 *
 * @param count number that has come
 * @throws InterimAnswersError for more than a server has reason to send
 */
export function assertFewInterimAnswers(count: number): void {
  if (count > MAX_INTERIM_ANSWERS) throw new InterimAnswersError("too many interim answers");
}
