import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { sql } from "kysely";
import type pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { requestCancel } from "../../../../store/database/postgres/cancel-request.ts";
import { connectionConfig } from "../../../../store/database/postgres/connection-config.ts";
import { openPostgres } from "../../../../store/database/postgres/postgres.ts";
import { TimeoutClient } from "../../../../store/database/postgres/timeout-client.ts";
import { makeCertificate } from "../../../env/certificate.ts";
import { NAMED_LOOPBACK, startTlsPostgres } from "../../../env/database/tls-postgres.ts";
import { startTcpProxy } from "../../../env/tcp-proxy.ts";
import { until } from "../../../env/until.ts";

/** As it stands in a CancelRequest. */
const CANCEL_CODE = Buffer.from("04d2162e", "hex");

test("b112: what ends a statement goes to the database over TLS as well: it names the connection that others could end", async (context) => {
  const postgres = await startTlsPostgres();
  const { port } = new URL(postgres.url);
  const proxy = await startTcpProxy({ host: "127.0.0.1", port: Number(port) });
  const admin = await openPostgres(postgres.url);
  context.onTestFinished(async () => {
    await admin.close();
    await proxy.close();
    await postgres.stop();
  });
  let isReadable = false;
  void proxy.resetAt("sent", () => (bytes) => {
    isReadable ||= bytes.includes(CANCEL_CODE);
    return false;
  });
  const url = `postgres://postgres:postgres@${NAMED_LOOPBACK}:${proxy.port}/postgres`;
  const client = new TimeoutClient({ locate: () => connectionConfig({ url, caFile: postgres.caFile }) });
  await client.connect();
  const running = async () => {
    const { rows } = await sql<{ pid: number }>`
      select pid from pg_stat_activity where query = 'select pg_sleep(600)' and state = 'active'`.execute(admin.db);
    return rows.length;
  };
  const asked: Promise<unknown> = client.query("select pg_sleep(600)");
  asked.catch(() => {});
  await until("it runs", async () => (await running()) === 1);
  client.abandon();
  await until("it has ended in the database", async () => (await running()) === 0);
  await expect(asked).rejects.toThrow();
  expect(isReadable).toBe(false);
});

test.each([
  { ofIts: "another authority's certificate", isTrusted: false },
  { ofIts: "the authority's certificate", isTrusted: true },
])("b112: what ends a statement is handed to a server with $ofIts: $isTrusted", async ({ isTrusted }) => {
  const { cert, key } = makeCertificate(undefined, "127.0.0.1");
  const received: Buffer[] = [];
  const closed = Promise.withResolvers<void>();
  const server = createServer((socket: Socket) => {
    socket.on("error", () => {}).on("close", () => closed.resolve());
    socket.once("data", () => {
      const secure = new TLSSocket(socket, { isServer: true, cert, key });
      secure.on("error", () => {}).on("data", (bytes: Buffer) => received.push(bytes));
      socket.write("S");
    });
  });
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const client = { host: NAMED_LOOPBACK, port, processID: 7, secretKey: 8 } as unknown as pg.Client;
  requestCancel(client, { ca: isTrusted ? cert : makeCertificate(undefined, "127.0.0.1").cert });
  await closed.promise;
  expect(Buffer.concat(received).includes(CANCEL_CODE)).toBe(isTrusted);
});
