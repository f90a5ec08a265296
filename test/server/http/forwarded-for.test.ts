import { expect, test } from "vitest";
import { addressesOf } from "../../../server/http/forwarded-for.ts";

test.each([
  ["203.0.113.7:51820", "203.0.113.7"],
  ["203.0.113.7", "203.0.113.7"],
  ["[2001:db8::5]:443", "2001:db8::5"],
  ["[2001:db8::5]", "2001:db8::5"],
  ["2001:db8::5", "2001:db8::5"],
  // Without brackets the last number is one of the address.
  ["2001:db8::5:443", "2001:db8::5:443"],
  ["[fe80::1%eth0]:443", "fe80::1%eth0"],
  ["[::ffff:203.0.113.7]:443", "::ffff:203.0.113.7"],
  ["::ffff:203.0.113.7:443", "::ffff:203.0.113.7"],
  ["203.0.113.7:1,[2001:db8::5]:2, 127.0.0.1:1234 ", "203.0.113.7,2001:db8::5,127.0.0.1"],
])("the addresses of %s are %s", (list, addresses) => {
  expect(addressesOf(list)).toBe(addresses);
});

test.each([
  "203.0.113.7:65536",
  "203.0.113.7:",
  "203.0.113.7:x",
  "203.0.113.7:80:80",
  "203.0.113.700:80",
  "203.0.113:80",
  "[203.0.113.7]:80",
  "[2001:db8::5]:65536",
  "[2001:db8::5",
  "[2001:db8::5]443",
  "[[2001:db8::5]]:443",
  "[2001:db8::g]:443",
  "[host:name]:80",
  "proxy.example.com:80",
  '"[2001:db8::5]:443"',
  "unknown",
  "",
])("what is no address with a port stays as it is: %j", (written) => {
  expect(addressesOf(written)).toBe(written);
});
