import { expect, test } from "vitest";
import { type Arrival, foreignHeader } from "../../../server/http/host-check.ts";

const LOOPBACK: Arrival = {
  host: "localhost:8080",
  origin: undefined,
  scheme: "http:",
  localAddress: "127.0.0.1",
  localPort: 8080,
};
const PUBLIC = new URL("https://keys.example.com");

test.each<[string, Partial<Arrival>, URL | null, ReturnType<typeof foreignHeader>]>([
  ["a loopback name on a loopback connection", {}, null, undefined],
  ["another address of the loopback network", { localAddress: "127.0.0.2" }, null, undefined],
  ["a loopback connection of a dual-stack listener", { localAddress: "::ffff:127.0.0.1" }, null, undefined],
  ["IPv6", { localAddress: "::1", host: "[::1]:8080" }, null, undefined],
  ["a loopback name on a connection from outside", { localAddress: "10.0.0.5" }, null, "host"],
  ["an address that only begins like loopback", { localAddress: "::ffff:10.0.0.5" }, null, "host"],
  ["the address itself, from outside", { localAddress: "10.0.0.5", host: "10.0.0.5:8080" }, null, "host"],
  ["no Host", { host: undefined }, PUBLIC, "host"],
  ["a host that is called undefined", { host: "undefined" }, null, "host"],
  ["the default port left out", { host: "localhost", localPort: 80 }, null, undefined],
  ["the default port of TLS left out", { host: "localhost", scheme: "https:", localPort: 443 }, null, undefined],
  [
    "the public host behind a proxy that ends the TLS",
    { host: "keys.example.com", localAddress: "10.0.0.5" },
    PUBLIC,
    undefined,
  ],
  ["the public host with its port", { host: "KEYS.example.com:443", localAddress: "10.0.0.5" }, PUBLIC, undefined],
  ["the public host with another port", { host: "keys.example.com:80", localAddress: "10.0.0.5" }, PUBLIC, "host"],
  ["the public host's own page", { host: "keys.example.com", origin: "https://keys.example.com" }, PUBLIC, undefined],
  ["a page of a loopback port that is not ours", { origin: "http://localhost:6274" }, null, "origin"],
  [
    "a page that calls itself local, from outside",
    { host: "keys.example.com", localAddress: "10.0.0.5", origin: "http://localhost:8080" },
    PUBLIC,
    "origin",
  ],
  [
    "a page of this machine to the public host, behind a proxy on the same machine",
    { host: "keys.example.com", origin: "http://localhost:8080" },
    PUBLIC,
    "origin",
  ],
  [
    "the public host's page behind a proxy that names us by a loopback name",
    { origin: "https://keys.example.com" },
    PUBLIC,
    undefined,
  ],
  ["a page with a path for an origin", { origin: "http://localhost:8080/x" }, null, "origin"],
  ["a sandboxed page", { origin: "null" }, null, "origin"],
])("b54: %s", (_what, arrival, publicUrl, foreign) => {
  expect(foreignHeader({ ...LOOPBACK, ...arrival }, publicUrl)).toBe(foreign);
});
