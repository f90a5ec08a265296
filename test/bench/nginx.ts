import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { INERT_HEADERS } from "../../server/gateway/headers/headers.ts";
import { ANSWER, PATH, PROVIDER_CREDENTIAL, STREAM_PATH } from "./traffic.ts";

/** nginx as the upstream: every path answers 1 KB of JSON. It costs less than anything that stands before it. */
export function upstreamConfig(port: number): string {
  return `server {
    listen 127.0.0.1:${port} reuseport;
    default_type application/json;
    add_header x-request-id req_bench;
    location / { return 200 '${ANSWER}'; }
  }`;
}

/** What no upstream may say to a client in our name. */
const HIDDEN = ["alt-svc", "clear-site-data", "content-security-policy", "location", "refresh", "set-cookie"].concat([
  "strict-transport-security",
  "www-authenticate",
]);

/**
 * nginx as the gateway, with the same duties as far as it can: a key's look-up in a map, the provider's credential in its
 * place, the other carriers and cookies taken out, the same headers taken out of the answer and put into it.
 */
export function gatewayConfig(
  port: number,
  upstreamPort: number,
  streamUpstreamPort: number,
  keys: readonly string[],
): string {
  const inert = INERT_HEADERS.flatMap((name, i) =>
    i % 2 === 0 ? [`add_header ${name} "${INERT_HEADERS[i + 1]}";`] : [],
  );
  return `map_hash_max_size 524288;
  map_hash_bucket_size 512;
  map $http_authorization $key_id {
    default "";
    ${keys.map((key, i) => `"Bearer ${key}" key_${i};`).join("\n    ")}
  }
  upstream model { server 127.0.0.1:${upstreamPort}; keepalive 64; keepalive_requests 1000000000; }
  upstream stream { server 127.0.0.1:${streamUpstreamPort}; keepalive 64; keepalive_requests 1000000000; }
  server {
    listen 127.0.0.1:${port} reuseport;
    ${location(PATH, "http://model/v1/chat/completions", inert)}
    ${location(STREAM_PATH, "http://stream/v1/chat/completions$is_args$args", inert)}
    location / { return 404; }
  }`;
}

function location(path: string, target: string, inert: readonly string[]): string {
  return `location = ${path} {
      if ($key_id = "") { return 401; }
      proxy_pass ${target};
      proxy_buffering off;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Authorization "Bearer ${PROVIDER_CREDENTIAL}";
      proxy_set_header X-Goog-Api-Key "";
      proxy_set_header X-Api-Key "";
      proxy_set_header Cookie "";
      ${HIDDEN.map((name) => `proxy_hide_header ${name};`).join("\n      ")}
      ${inert.join("\n      ")}
    }`;
}

/** Writes a configuration with everything that nginx would else keep outside of the folder; returns its arguments. */
export async function writeNginx(folder: string, name: string, server: string): Promise<string[]> {
  const home = join(folder, name);
  await mkdir(home);
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((kind) => `${kind}_temp_path ${home};`);
  await writeFile(
    join(home, "nginx.conf"),
    `worker_processes 1;
daemon off;
pid ${home}/nginx.pid;
events { worker_connections 1024; }
http {
  access_log off;
  keepalive_requests 1000000000;
  ${temporary.join("\n  ")}
  ${server}
}
`,
  );
  return ["-p", home, "-c", join(home, "nginx.conf"), "-e", "stderr"];
}
