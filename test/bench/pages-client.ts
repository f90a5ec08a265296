/** The thread of {@link benchPages} that asks: it answers each message with the text of what came. */
import { parentPort, workerData } from "node:worker_threads";

const { url, key }: { url: string; key: string } = workerData;
const headers = { authorization: `Bearer ${key}` };

parentPort?.on("message", async ({ call, args }: { call: string; args: object }) => {
  const [method, path = ""] = call.split(" ");
  const response = await (method === "GET"
    ? fetch(`${url}${path}${path.includes("?") ? "&" : "?"}limit=100`, { headers })
    : callTool(call, args));
  parentPort?.postMessage(await response.text());
});

function callTool(name: string, args: object): Promise<Response> {
  return fetch(`${url}/api/v1/memory/mcp`, {
    method: "POST",
    headers: { ...headers, accept: "application/json, text/event-stream", "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } }),
  });
}
