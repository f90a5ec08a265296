/** The configuration leads to no cluster: it cannot be read, or does not say which one is meant. */
export class KubeconfigError extends Error {
  override readonly name = "KubeconfigError";
}
