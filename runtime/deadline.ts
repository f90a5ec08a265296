/** An answer that did not come in time. */
class NoAnswerError extends Error {
  constructor(milliseconds: number) {
    super(`no answer within ${milliseconds} ms`);
    this.name = "NoAnswerError";
  }
}

/** The answer, or a rejection after that time: an answer that comes later is dropped. */
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
 * The answer to a question that is put again after each `againMs` in which none has come: a way that swallows what is
 * on it may have an end, and then only what is sent after it arrives. The first answer or error counts, and none that
 * comes after the whole time.
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

/** Waits that long, or until it is woken. */
export async function pause(milliseconds: number, woken?: Promise<void>): Promise<void> {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, milliseconds);
  await Promise.race([over, woken ?? over]);
  clearTimeout(timer);
}
