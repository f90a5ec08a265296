import { connect, createServer } from "node:net";
import { text } from "node:stream/consumers";

/** What a run's test files share: what they need to know of it, and how it is ended. */
export type Shared<T> = { readonly details: T; stop(): Promise<void> };

/** What a desk answers. */
type DeskAnswer<T> = { readonly details: T } | { readonly failed: string };

/** Where test files ask for what they share; it is started when the first of them asks, since most runs need none. */
export async function openDesk<T>(start: () => Promise<Shared<T>>): Promise<{ port: number; close(): Promise<void> }> {
  let started: Promise<Shared<T>> | undefined;
  const desk = createServer(async (client) => {
    client.on("error", () => {});
    started ??= start();
    const answer = await started.then(
      ({ details }): DeskAnswer<T> => ({ details }),
      (error: unknown): DeskAnswer<T> => ({ failed: error instanceof Error ? error.message : String(error) }),
    );
    client.end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => desk.listen(0, "127.0.0.1", resolve));
  const address = desk.address();
  if (typeof address !== "object" || address === null) throw new Error("no loopback port to be had");
  return {
    port: address.port,
    async close() {
      desk.close();
      const shared = await started?.catch(() => undefined);
      await shared?.stop();
    },
  };
}

/**
 * Asks a desk, and waits until what it offers has started.
 *
 * @throws where it did not start, with the reason
 */
export async function askDesk<T>(port: number): Promise<T> {
  const answer: DeskAnswer<T> = JSON.parse(await text(connect(port, "127.0.0.1")));
  if ("failed" in answer) throw new Error(answer.failed);
  return answer.details;
}
