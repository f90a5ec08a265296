/** An answer, or a part of one, without what differs from one request to the next: to compare several. */
export function withoutRequestIds<T>(answer: T): T {
  return JSON.parse(JSON.stringify(answer).replaceAll(/req_[\w-]+/g, "req"));
}
