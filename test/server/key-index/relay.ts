import { connect, createServer, type Socket } from "node:net";

export type Relay = Awaited<ReturnType<typeof startRelay>>;

/** A TCP relay in front of a database, to take the network away from what connects through it. */
export async function startRelay(target: { host: string; port: number }) {
  let mode: "open" | "cut" | "silent" = "open";
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    if (mode === "cut") {
      near.destroy();
      return;
    }
    const far = connect(target);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on("data", (chunk) => {
        if (mode !== "silent") other.write(chunk);
      });
      one.on("error", () => {});
      one.on("close", () => {
        sockets.delete(one);
        if (mode !== "silent") other.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the relay has no address");

  const end = () => {
    for (const socket of [...sockets]) socket.destroy();
  };
  return {
    port: address.port,
    /** Ends every connection and refuses new ones. */
    cut(): void {
      mode = "cut";
      end();
    },
    /** Swallows every byte without an error: a network that drops packets. */
    silence(): void {
      mode = "silent";
    },
    /** Lets new connections through; those that were silenced stay dead, as after a lost flow. */
    restore(): void {
      if (mode === "silent") end();
      mode = "open";
    },
    async close(): Promise<void> {
      mode = "cut";
      end();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
