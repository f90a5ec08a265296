/** Error for an answer that did not come in time. */
class NoAnswerError extends Error {
  constructor(milliseconds: number) {
    super(`no answer within ${milliseconds} ms`);
    this.name = "NoAnswerError";
  }
}

/** Waits for an answer, and rejects after that time: a later answer is dropped. */
export async function answerWithin<T>(milliseconds: number, answer: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new NoAnswerError(milliseconds)), milliseconds);
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Asks a question, repeats it after each `againMs` without an answer, and returns the first answer. A network path that
 * loses all messages may recover, and then only messages that are sent after that arrive. The first answer or error
 * counts, unless it comes after the whole time.
 */
export async function firstAnswer<T>(milliseconds: number, againMs: number, ask: () => Promise<T>): Promise<T> {
  const { promise: first, resolve, reject } = Promise.withResolvers<T>();
  const put = () => void ask().then(resolve, reject);
  const again = setInterval(put, againMs);
  put();
  try {
    return await answerWithin(milliseconds, first);
  } finally {
    clearInterval(again);
  }
}

/** Waits for that time, or until `woken` resolves. */
export async function pause(milliseconds: number, woken?: Promise<void>): Promise<void> {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, milliseconds);
  await Promise.race([over, woken ?? over]);
  clearTimeout(timer);
}
