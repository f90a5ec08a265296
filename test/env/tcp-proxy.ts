import { connect, createServer, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

/** A proxy between a client and a server that can go wrong in ways that a real network does. */
export type TcpProxy = {
  readonly port: number;
  /** From now on nothing passes, in either direction, and no socket is closed or refused: a black hole. */
  freeze(): void;
  /** Breaks every open connection by a reset; new ones pass. */
  reset(): void;
  /** Breaks every open connection, and from now on each new one too. */
  cut(): void;
  /** From now on everything that passes arrives so many milliseconds later. */
  slow(milliseconds: number): void;
  /**
   * Resets the next connection whose client sends what is looked for: before it is passed on, or once the server has
   * answered it, in place of the answer. Resolves when that is certain.
   *
   * @param makeLook makes what sees a connection's bytes from the client, in order; its state is the connection's own
   */
  resetAt(when: "sent" | "answered", makeLook: () => Look): Promise<void>;
  /** Leads new connections to another server; those that are open stay where they are, as when a name changes hands. */
  leadTo(target: Target): void;
  /** New connections pass again, without delay. What was frozen stays so. */
  thaw(): void;
  close(): Promise<void>;
};

type Target = { readonly host: string; readonly port: number };
type Look = (bytes: Buffer) => boolean;
type Trap = {
  readonly when: "sent" | "answered";
  readonly makeLook: () => Look;
  readonly looks: WeakMap<Socket, Look>;
  readonly closed: () => void;
};

/** @param filter what the server's bytes become on their way to one client; called in order, its state its own */
export async function startTcpProxy(
  first: Target,
  makeFilter: () => (bytes: Buffer) => Buffer = () => (bytes) => bytes,
): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let now: "passes" | "frozen" | "cut" = "passes";
  let target = first;
  let lag = 0;
  let trap: Trap | undefined;

  /** Whether these bytes are what the trap waits for; it closes once. */
  function closes(client: Socket, bytes: Buffer): Trap["when"] | undefined {
    if (trap === undefined) return undefined;
    const look = trap.looks.get(client) ?? trap.makeLook();
    trap.looks.set(client, look);
    if (!look(bytes)) return undefined;
    const { when, closed } = trap;
    trap = undefined;
    closed();
    return when;
  }

  const server = createServer((client) => {
    if (now === "cut") return client.resetAndDestroy();
    const upstream = connect(target.port, target.host);
    const filter = makeFilter();
    let stuck = now === "frozen";
    let caught: Trap["when"] | undefined;
    for (const [from, to, change] of [
      [client, upstream, (bytes: Buffer) => bytes],
      [upstream, client, filter],
    ] as const) {
      sockets.add(from);
      let sent = Promise.resolve();
      /** After all that was sent before it, and not before its own time. */
      const inOrder = (act: () => void) => {
        const arrival = lag === 0 ? undefined : delay(lag);
        sent = sent.then(() => arrival).then(act);
      };
      from.on("data", (bytes: Buffer) => {
        stuck ||= now === "frozen";
        if (from === client) caught ??= closes(client, bytes);
        if (caught === (from === client ? "sent" : "answered")) client.resetAndDestroy();
        else if (!stuck) inOrder(() => to.write(change(bytes)));
      });
      from.on("error", () => {});
      from.on("close", () => {
        sockets.delete(from);
        if (!stuck) inOrder(() => to.destroy());
      });
    }
  });
  const reset = () => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("the proxy has no port");
  return {
    port: address.port,
    freeze() {
      now = "frozen";
    },
    reset,
    cut() {
      now = "cut";
      reset();
    },
    resetAt: (when, makeLook) =>
      new Promise((resolve) => {
        trap = { when, makeLook, looks: new WeakMap(), closed: resolve };
      }),
    leadTo(next) {
      target = next;
    },
    slow(milliseconds) {
      lag = milliseconds;
    },
    thaw() {
      now = "passes";
      lag = 0;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
