/** Returns a function that reports a message once for as long as it holds. */
export function whileItHolds(say: (message: string) => void): (message: string | undefined) => void {
  const sayAll = sayNew(say);
  return (message) => sayAll(message === undefined ? [] : [message]);
}

/** Returns a function that takes all messages that hold now, and reports those that did not hold before. */
export function sayNew(say: (message: string) => void): (messages: readonly string[]) => void {
  let before = new Set<string>();
  return (messages) => {
    const now = new Set(messages);
    for (const message of now) if (!before.has(message)) say(message);
    before = now;
  };
}
