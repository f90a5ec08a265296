import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";

/**
 * Sends a POST whose last byte is held back until an act was done, with the call under way.
 *
 * @returns the status and the body of the answer
 */
export async function heldBack(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: object,
  act: () => unknown,
): Promise<readonly [number | undefined, string]> {
  const bytes = Buffer.from(JSON.stringify(body));
  const length = String(bytes.length);
  const sent = request(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers, expect: "100-continue", "content-length": length },
  });
  const answered = new Promise<IncomingMessage>((resolve, reject) => sent.on("response", resolve).on("error", reject));
  sent.flushHeaders();
  await new Promise((resolve) => sent.on("continue", resolve));
  sent.write(bytes.subarray(0, -1));
  await act();
  sent.end(bytes.subarray(-1));
  const answer = await answered;
  return [answer.statusCode, await text(answer)];
}
