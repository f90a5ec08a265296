import { lookup } from "node:dns";
import { BlockList } from "node:net";
import { afterEach, expect, test } from "vitest";
import { AddressRefusedError, createAddressGuard } from "../../../../server/gateway/upstream/addresses.ts";
import { createUpstreamPools } from "../../../../server/gateway/upstream/pools.ts";
import type { Harness } from "../../harness.ts";
import { PROVIDER_KEY, startGateway, upstreamOf } from "../gateway.ts";
import { startUpstream, type Upstream } from "../upstream.ts";

const guard = createAddressGuard(new BlockList());

test.each([
  "127.0.0.1",
  "127.8.8.8",
  "10.1.2.3",
  "172.16.0.1",
  "172.31.255.255",
  "192.168.1.1",
  "169.254.169.254",
  "100.64.0.1",
  "100.100.100.200",
  "0.0.0.0",
  "168.63.129.16",
  "224.0.0.1",
  "255.255.255.255",
  "::",
  "::1",
  "[::1]",
  "fe80::1",
  "fe80::1%eth0",
  "fc00::1",
  "fd00:ec2::254",
  "ff02::1",
  "::ffff:169.254.169.254",
  "::ffff:a9fe:a9fe",
  "::ffff:127.0.0.1",
  "64:ff9b::169.254.169.254",
  "64:ff9b::7f00:1",
  "2002:7f00:1::",
  "::127.0.0.1",
  "localhost",
  "",
])("b37: %s is no upstream's address", (address) => {
  expect(guard.allows(address)).toBe(false);
});

test.each([
  "::ffff:0:a9fe:a9fe", // IPv4-translated
  "::ffff:0:8.8.8.8",
  "64:ff9b::a9fe:a9fe", // NAT64
  "64:ff9b:0:0:0:0:a9fe:a9fe",
  "64:ff9b:1::a9fe:a9fe", // NAT64 of a local prefix
  "64:ff9b:1:ffff::8.8.8.8",
  "64:ff9b:2::a9fe:a9fe",
  "2002:a9fe:a9fe::1", // 6to4
  "2001:0:a9fe:a9fe::1", // Teredo
  "2001::5601:5601", // Teredo: the client's address inverted
  "2001:2::1", // benchmarking
  "2001:20::1", // ORCHID
  "3fff::1",
  "3fff:fff:ffff:ffff::1",
  "5f00::1",
  "5f00:ffff::1",
  "100::1",
  "100:0:0:1::1",
  "4000::1",
  "8000::1",
  "fec0::1",
  "[::ffff:0:a9fe:a9fe]",
  "::ffff:0:a9fe:a9fe%eth0",
])("b98: %s is no upstream's address", (address) => {
  expect(guard.allows(address)).toBe(false);
});

test.each([
  "8.8.8.8",
  "1.1.1.1",
  "172.32.0.1",
  "2606:4700::1111",
  "2001:4860:4860::8888",
  "2a00:1450::1",
  "::ffff:8.8.8.8",
  "64:ff9b::8.8.8.8",
])("%s is one", (address) => {
  expect(guard.allows(address)).toBe(true);
});

test("what the installation lists is let through, in either notation, and nothing beside it", () => {
  const allowed = new BlockList();
  allowed.addSubnet("10.1.0.0", 16, "ipv4");
  const listed = createAddressGuard(allowed);
  expect(["10.1.2.3", "::ffff:10.1.2.3", "10.2.0.1", "127.0.0.1"].map(listed.allows)).toEqual([
    true,
    true,
    false,
    false,
  ]);
});

let harness: Harness | undefined;
let upstream: Upstream | undefined;
afterEach(async () => {
  await harness?.close();
  await upstream?.close();
});

test("b37: no upstream on a private address is connected to, however its URL spells it", async () => {
  upstream = await startUpstream();
  harness = await startGateway({ config: { allowedPrivateUpstreams: new BlockList() } });
  const key = harness.addKey();
  for (const host of ["127.0.0.1", "0177.1", "2130706433", "0x7f.1", "[::ffff:7f00:1]", "[::1]", "localhost", "0"]) {
    const { publicId } = harness.addGateway({ upstreams: [upstreamOf(`http://${host}:${upstream.port}`)] });
    const answer = await fetch(`${harness.url}/g/${publicId}/v1/embeddings`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}` },
      body: "{}",
    });
    const text = await answer.text();
    expect([host, answer.status]).toEqual([host, 502]);
    expect(text).not.toContain(host);
    expect(text).not.toContain(PROVIDER_KEY);
  }
  expect(upstream.connections).toBe(0);
  expect(harness.lines.join("")).toContain("not among the allowed private upstreams");
});

test("b37: a name that resolved well and connects elsewhere is refused on the socket, before a byte is sent", async () => {
  upstream = await startUpstream();
  const pools = createUpstreamPools({ allows: (address) => address === "203.0.113.1", lookup }, () => 0);
  const { pool } = pools.poolOf(
    "gw",
    { ...upstreamOf(`http://localhost:${upstream.port}`), credential: PROVIDER_KEY },
    "team",
  );
  const failed = pool.request({ method: "POST", path: "/", body: "secret" });
  await expect(failed).rejects.toBeInstanceOf(AddressRefusedError);
  expect(upstream.received).toHaveLength(0);
  await pools.close();
});
