import { createServer, type Server } from "node:http";

/** Sources of the admin listener's answers. */
type AdminDeps = {
  readonly metrics: { readonly registry: { readonly contentType: string; metrics(): Promise<string> } };
  /** True if this process should be given work: for a server, if its index is current and it is not draining. */
  readonly isReady: () => boolean;
};

type AdminResponse = { readonly status: number; readonly type: string; readonly body: string };

/** Builds the admin listener: `/metrics`, `/healthz` and `/readyz`, for use inside the cluster alone. */
export function buildAdmin({ metrics, isReady }: AdminDeps): Server {
  const paths: Readonly<Record<string, () => AdminResponse | Promise<AdminResponse>>> = {
    "/metrics": () =>
      metrics.registry.metrics().then(
        (body) => ({ status: 200, type: metrics.registry.contentType, body }),
        // A scrape that fails is seen; counters that lack a thread would go down.
        () => text(503, "a thread of this server did not report its metrics: try again"),
      ),
    "/healthz": () => text(200, "ok"),
    "/readyz": () =>
      isReady() ? text(200, "ok") : text(503, "the key index is not current, or the server is draining"),
  };
  return createServer(async (request, response) => {
    const [path = ""] = (request.url ?? "").split("?");
    const respond = Object.hasOwn(paths, path) ? paths[path] : undefined;
    const isRead = request.method === "GET" || request.method === "HEAD";
    const { status, type, body } = respond === undefined || !isRead ? text(404, "not found") : await respond();
    response.writeHead(status, { "content-type": type, "content-length": Buffer.byteLength(body) });
    response.end(request.method === "HEAD" ? undefined : body);
  });
}

function text(status: number, body: string): AdminResponse {
  return { status, type: "text/plain; charset=utf-8", body: `${body}\n` };
}
