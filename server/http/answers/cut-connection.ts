import { Socket } from "node:net";

/**
 * Resets a connection at once. If it were closed, the kernel would keep what its caller does not read until the kernel
 * gives up, minutes later.
 */
export function cutConnection(socket: Socket): void {
  // The data of a socket in shutdown has left, and libuv does not reset such a socket.
  const isShutting = socket.writableEnded && socket.writableLength === 0;
  // TLS has no reset of its own: the connection below it is reset.
  const connection = "_parent" in socket && socket._parent instanceof Socket ? socket._parent : socket;
  if (!socket.destroyed && !connection.destroyed && !isShutting) connection.resetAndDestroy();
  socket.destroy();
}
