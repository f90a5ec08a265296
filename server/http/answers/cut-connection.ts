import { Socket } from "node:net";

/**
 * Ends a connection at once, by a reset: closed, it would leave what its caller does not read in the kernel's memory
 * until that gives up, minutes later.
 */
export function cutConnection(socket: Socket): void {
  // What is being shut down has left, and libuv resets none such.
  const isShutting = socket.writableEnded && socket.writableLength === 0;
  // TLS has no reset of its own: it is the connection's below.
  const connection = "_parent" in socket && socket._parent instanceof Socket ? socket._parent : socket;
  if (!socket.destroyed && !connection.destroyed && !isShutting) connection.resetAndDestroy();
  socket.destroy();
}
