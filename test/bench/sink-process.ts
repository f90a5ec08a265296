/** An upstream that reads a request's body and keeps nothing of it, and then answers with a file of a new id. */
import { randomBytes } from "node:crypto";
import { createServer } from "node:net";

const [, , port] = process.argv;

createServer((socket) => {
  let head = "";
  let left = -1;
  socket.on("error", () => socket.destroy());
  socket.on("data", (chunk: Buffer) => {
    let body = chunk.length;
    if (left < 0) {
      head += chunk.toString("latin1");
      const end = head.indexOf("\r\n\r\n");
      if (end < 0) return;
      body = head.length - end - 4;
      left = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
    }
    left -= body;
    if (left > 0) return;
    head = "";
    left = -1;
    const answer = JSON.stringify({ id: `file_${randomBytes(12).toString("hex")}`, object: "file" });
    socket.write(
      `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${answer.length}\r\n\r\n${answer}`,
    );
  });
}).listen(Number(port), "127.0.0.1");
