import { isIP } from "node:net";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { networkFault, refusedSource, shownSource } from "../../../domain/access/source-addresses.ts";
import { examples } from "../../env/nightly.ts";

/** An address as one number, and how many bits it has. */
type Numbered = { readonly value: bigint; readonly bits: 32 | 128 };

const octet = fc.integer({ min: 0, max: 255 });
const group = fc.oneof(fc.constantFrom(0, 0, 0, 0xffff), fc.integer({ min: 0, max: 0xffff }));
/** What is IPv4 written as IPv6 is tested by itself. */
const MAPPED = 0xffffn;
const v4 = fc.tuple(octet, octet, octet, octet).map((octets): Numbered => ({ value: joined(octets, 8n), bits: 32 }));
const v6 = fc
  .array(group, { minLength: 8, maxLength: 8 })
  .map((groups): Numbered => ({ value: joined(groups, 16n), bits: 128 }))
  .filter(({ value }) => value >> 32n !== MAPPED);
const address = fc.oneof(v4, v6);
const network = fc
  .tuple(address, fc.integer({ min: 0, max: 128 }))
  .map(([{ value, bits }, length]) => networkOf({ value, bits }, Math.min(length, bits)));

function joined(parts: readonly number[], width: bigint): bigint {
  return parts.reduce((value, part) => (value << width) | BigInt(part), 0n);
}

function networkOf({ value, bits }: Numbered, length: number): Numbered & { readonly length: number } {
  const rest = BigInt(bits - length);
  return { value: (value >> rest) << rest, bits, length };
}

/** Written out, without what shortens an address. */
function text({ value, bits }: Numbered): string {
  const [width, count] = bits === 32 ? [8n, 4] : [16n, 8];
  const parts = Array.from(
    { length: count },
    (_, i) => (value >> (width * BigInt(count - 1 - i))) & ((1n << width) - 1n),
  );
  return bits === 32 ? parts.join(".") : parts.map((part) => part.toString(16)).join(":");
}

/** The shortest, as clients and proxies write it. */
function short(one: Numbered): string {
  return one.bits === 32 ? text(one) : new URL(`http://[${text(one)}]`).hostname.slice(1, -1);
}

function cidr(one: Numbered & { readonly length: number }): string {
  return `${short(one)}/${one.length}`;
}

function isWithin(one: Numbered, { value, bits, length }: Numbered & { readonly length: number }): boolean {
  return one.bits === bits && one.value >> BigInt(bits - length) === value >> BigInt(bits - length);
}

function refusalOf(ip: string | undefined, key: string[] | null, team: string[] | null = null) {
  return refusedSource({ allowedCIDRs: key, teamAllowedCIDRs: team }, { ip });
}

const NONE = { allowedCIDRs: null, teamAllowedCIDRs: null, teamLimits: null };

describe("b122: where a key may be used from", () => {
  test("is what numbers of 32 and 128 bits say, for both families and both lists", () => {
    const lists = fc.option(fc.array(network, { minLength: 1, maxLength: 32 }), { nil: null });
    const near = fc.tuple(network, fc.bigInt({ min: -2n, max: 2n })).map(([{ value, bits, length }, off]) => {
      // The ends of a network, and what is right beside them.
      const end = off < 0n ? value + off : value + (1n << BigInt(bits - length)) - 1n + off;
      return { near: { value: end & ((1n << BigInt(bits)) - 1n), bits } as Numbered, of: { value, bits, length } };
    });
    fc.assert(
      fc.property(lists, lists, address, near, fc.boolean(), (key, team, any, { near, of }, isNear) => {
        const one = isNear && near.value >> 32n !== MAPPED ? near : any;
        const own = isNear ? [...(key ?? []), of] : key;
        const allows = (list: readonly (typeof of)[] | null) =>
          list === null || list.some((each) => isWithin(one, each));
        const want = !allows(own) ? "key" : allows(team) ? undefined : "team";
        const [a, b] = [own?.map(cidr) ?? null, team?.map(cidr) ?? null];
        expect(refusalOf(short(one), a, b)).toBe(want);
        expect(refusalOf(text(one), a, b)).toBe(want);
      }),
      { numRuns: examples(300) },
    );
  });

  test("is the same for an IPv4 address that is written as one of IPv6", () => {
    fc.assert(
      fc.property(v4, network, (one, of) => {
        const [high, low] = [(one.value >> 16n).toString(16), (one.value & 0xffffn).toString(16)];
        const want = refusalOf(text(one), [cidr(of)]);
        for (const ip of [
          `::ffff:${text(one)}`,
          `::FFFF:${text(one)}`,
          `::ffff:${high}:${low}`,
          `0:0:0:0:0:ffff:${text(one)}`,
        ]) {
          expect(refusalOf(ip, [cidr(of)])).toBe(want);
          expect(shownSource({ ip })).toBe(text(one));
        }
      }),
    );
  });

  test("is any address of a family with a length of 0, and none of the other family", () => {
    expect(["203.0.113.7", "::ffff:203.0.113.7", "2001:db8::1"].map((ip) => refusalOf(ip, ["0.0.0.0/0"]))).toEqual([
      undefined,
      undefined,
      "key",
    ]);
    expect(["203.0.113.7", "::ffff:203.0.113.7", "2001:db8::1"].map((ip) => refusalOf(ip, ["::/0"]))).toEqual([
      "key",
      "key",
      undefined,
    ]);
  });

  test("does not depend on the zone of an address", () => {
    expect(refusalOf("fe80::1%eth0", ["fe80::/10"])).toBeUndefined();
    expect(shownSource({ ip: "fe80::1%eth0" })).toBe("fe80::1");
  });

  test.each([
    undefined,
    "",
    "unknown",
    "203.0.113.7:4711",
    "[2001:db8::1]:80",
    "localhost",
    ...["1.2.3", "1.2.3.256", "01.2.3.4", "1.2.3.4.", ".1.2.3.4", "1.2.3.4.5", "0x7f.1"],
    ...["::1\t", ":::", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "::1.2.3.256", "::g", "1::2::3", "12345::"],
    "/run/s",
  ])("is nowhere for a caller whose address is not known: %s", (ip) => {
    expect(refusalOf(ip, ["0.0.0.0/0", "::/0"])).toBe("unknown");
    expect(refusalOf(ip, null, ["0.0.0.0/0", "::/0"])).toBe("unknown");
    expect(shownSource({ ip })).toBeUndefined();
  });

  test("is decided for what Node takes for an address, and for nothing else", () => {
    const char = fc.constantFrom(..."0012345ff9a:::...");
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: char, maxLength: 24 }), fc.ipV4(), fc.ipV6()), (ip) => {
        expect([ip, shownSource({ ip }) !== undefined]).toEqual([ip, isIP(ip) !== 0]);
      }),
      { numRuns: examples(300) },
    );
  });

  test("is nowhere for a list of which nothing can be read", () => {
    expect(refusalOf("203.0.113.7", ["203.0.113.7", "nonsense", "203.0.113.7/24"])).toBe("key");
  });

  test("asks for no address where no list is declared", () => {
    const client = {
      get ip(): string {
        throw new Error("nothing needs it");
      },
    };
    expect(refusedSource(NONE, client)).toBeUndefined();
    expect(() => refusedSource({ ...NONE, teamAllowedCIDRs: ["0.0.0.0/0"] }, client)).toThrow("nothing needs it");
  });

  test("reads a list once, and the address once for each call", () => {
    let asked = 0;
    const client = {
      get ip() {
        asked++;
        return "203.0.113.7";
      },
    };
    const cidrs = ["198.51.100.0/24", "203.0.113.0/24"];
    let entries = 0;
    const list = new Proxy(cidrs, {
      get(of, name, receiver) {
        if (name === "0") entries++;
        return Reflect.get(of, name, receiver);
      },
    });
    for (let i = 0; i < 100; i++) expect(refusedSource({ ...NONE, allowedCIDRs: list }, client)).toBeUndefined();
    expect({ asked, entries }).toEqual({ asked: 100, entries: 1 });
  });
});

describe("A network as it is written", () => {
  test("has no fault where it begins with its own first address", () => {
    fc.assert(
      fc.property(network, (one) => {
        expect([cidr(one), networkFault(cidr(one))]).toEqual([cidr(one), undefined]);
      }),
    );
  });

  test("is named, where bits behind its length are set", () => {
    fc.assert(
      fc.property(address, fc.integer({ min: 0, max: 128 }), (one, length) => {
        const of = networkOf(one, Math.min(length, one.bits));
        fc.pre(of.value !== one.value);
        expect(networkFault(`${short(one)}/${of.length}`)).toBe(
          `has bits behind its length: write ${cidr(of)} for the network, or ${short(one)}/${one.bits} for this one address`,
        );
      }),
    );
  });

  test.each<readonly [string, string]>([
    ["10.0.0.1/8", "has bits behind its length: write 10.0.0.0/8 for the network, or 10.0.0.1/32 for this one address"],
    ["10.0.0.1", "has no length: write 10.0.0.1/32 for this one address"],
    ["2001:db8::1", "has no length: write 2001:db8::1/128 for this one address"],
    ["10.0.0.0/33", "has a length beyond its 32 bits: write 10.0.0.0/32 for this one address"],
    ["::ffff:10.0.0.0/104", "is IPv4 written as IPv6: write 10.0.0.0/8"],
    ["::ffff:10.0.0.1", "has no length: write 10.0.0.1/32 for this one address"],
    ["::ffff:0:0/90", "mixes IPv4 and IPv6: write 0.0.0.0/0 for all of IPv4"],
  ])("says what to write instead of %s", (text, fault) => {
    expect(networkFault(text)).toBe(fault);
  });

  test.each([
    "",
    "10.0.0.0/",
    "10.0.0.0/08",
    "10.0.0.0/-1",
    "10.0.0.0/8/8",
    "fe80::1%eth0/128",
    "*",
    "10.0.0",
    "a/8",
    " ::/0",
  ])("is none where it says %j", (text) => {
    expect(networkFault(text)).toBe(
      "is no network: write an address and a length, such as 203.0.113.0/24 or 2001:db8::/32",
    );
  });
});
