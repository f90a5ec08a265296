/** Error of a wrong call of the command: exit code 2. The message says what to write instead. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
