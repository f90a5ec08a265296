import type { Server, Socket } from "node:net";

/**
 * Tracks the connections of a server from before their handshakes. Node itself closes those alone on which it speaks
 * HTTP, and a client that never shakes hands would keep a server from ending for two minutes.
 *
 * @returns function that closes them all
 */
export function trackConnections(server: Server): () => void {
  const open = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
  return () => {
    for (const socket of open) socket.destroy();
  };
}
