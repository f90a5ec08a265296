import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { freePort } from "./free-port.ts";
import { until } from "./until.ts";

/** Where nginx is; undefined where it is not installed. `NGINX_BIN` names another. */
function findNginx(): string | undefined {
  if (process.env.NGINX_BIN !== undefined) return process.env.NGINX_BIN;
  const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin"];
  return folders.map((folder) => join(folder, "nginx")).find((path) => existsSync(path));
}

type Nginx = { readonly url: string; stop(): Promise<void> };

/** nginx in front of a server on loopback, with connections that it keeps alive. */
export async function startNginx(upstreamPort: number): Promise<Nginx> {
  const port = await freePort();
  const sites = `
  client_max_body_size 64m;
  upstream keyplane { server 127.0.0.1:${upstreamPort}; keepalive 16; }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://keyplane;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
    }
  }`;
  return startNginxWith(sites, port);
}

/**
 * nginx with what stands in its block `http`.
 *
 * @param port where it listens by that
 */
export async function startNginxWith(sites: string, port: number): Promise<Nginx> {
  const program = findNginx();
  if (program === undefined) throw new Error("nginx is not installed: apt-get install nginx-light");
  const home = await mkdtemp(join(tmpdir(), "keyplane-nginx-"));
  const kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  await writeFile(
    join(home, "nginx.conf"),
    // Its worker would else have no right to the folder that a root's test has made.
    `${process.getuid?.() === 0 ? "user root;" : ""}
worker_processes 1;
daemon off;
pid ${home}/nginx.pid;
events { worker_connections 1024; }
http {
  access_log off;
  ${kinds.map((kind) => `${kind}_temp_path ${home}/${kind};`).join("\n  ")}
  ${sites}
}
`,
  );
  const arguments_ = ["-p", home, "-c", join(home, "nginx.conf"), "-e", "stderr"];
  const child: ChildProcess = spawn(program, arguments_, { stdio: "ignore" });
  await until("nginx listens", () => child.exitCode !== null || listens(port));
  if (child.exitCode !== null) throw new Error(`nginx ended with ${child.exitCode}`);
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      child.kill("SIGTERM");
      await until("nginx ends", () => child.exitCode !== null || child.signalCode !== null);
      await rm(home, { recursive: true, force: true });
    },
  };
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}
