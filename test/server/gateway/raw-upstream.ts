import { createServer, type Server, type Socket } from "node:net";

/** An upstream that speaks TCP as the test says; `data` is called for each piece that it is sent. */
export async function rawUpstream(
  data: (socket: Socket, connection: number) => void,
): Promise<Server & { readonly url: string }> {
  let connections = 0;
  const server = createServer((socket) => {
    const connection = ++connections;
    socket.on("error", () => {});
    socket.on("data", () => data(socket, connection));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return Object.assign(server, { url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}` });
}
