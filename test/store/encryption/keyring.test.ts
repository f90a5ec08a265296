import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { KeyringError } from "../../../store/database/errors.ts";
import { isSealedByFirst, parseKeyring, seal, unseal } from "../../../store/encryption/keyring.ts";

const bytes = (byte: number) => Buffer.alloc(32, byte).toString("base64");

describe("The encryption keys", () => {
  test("seal a credential so that it opens for its own gateway alone", () => {
    const keyring = parseKeyring(bytes(1));
    const sealed = seal(keyring, "sk-ключ", "gw_a");
    expect(unseal(keyring, sealed, "gw_a")).toBe("sk-ключ");
    expect(unseal(keyring, new Uint8Array(sealed), "gw_a")).toBe("sk-ключ");
    expect(() => unseal(keyring, sealed, "gw_b")).toThrow(KeyringError);
    expect(seal(keyring, "sk-ключ", "gw_a")).not.toEqual(sealed);
  });

  test("open nothing that was changed in any byte", () => {
    const keyring = parseKeyring(bytes(1));
    const sealed = seal(keyring, "secret", "gw");
    for (let index = 0; index < sealed.length; index++) {
      const changed = Buffer.from(sealed);
      changed.writeUInt8(changed.readUInt8(index) ^ 1, index);
      expect(() => unseal(keyring, changed, "gw"), `byte ${index}`).toThrow(KeyringError);
    }
    for (const length of [0, 1, 5, 32, sealed.length - 1]) {
      expect(() => unseal(keyring, sealed.subarray(0, length), "gw"), `length ${length}`).toThrow(KeyringError);
    }
  });

  test("b21: of several lines encrypt by the first, and decrypt by all", () => {
    const old = parseKeyring(bytes(1));
    const both = parseKeyring(`\n${bytes(2)}\r\n${bytes(1)}\n`);
    const sealed = seal(old, "secret", "gw");
    expect(unseal(both, sealed, "gw")).toBe("secret");
    expect(isSealedByFirst(both, sealed)).toBe(false);
    expect(isSealedByFirst(both, seal(both, "secret", "gw"))).toBe(true);
    expect(() => unseal(old, seal(both, "secret", "gw"), "gw")).toThrow(/add that key/);
  });

  test("b21: are refused where a line is not 32 bytes in base64, by its number and never by its text", () => {
    const wrong = Buffer.alloc(31, 7).toString("base64");
    for (const text of [`${bytes(1)}\n${wrong}`, `${bytes(1)}\n${bytes(1).slice(1)}`, `${bytes(1)}\nnot base64!`]) {
      expect(() => parseKeyring(text)).toThrow(/line 2: must be 32 bytes in base64/);
    }
    expect(() => parseKeyring("\n")).toThrow(/none given/);
    try {
      parseKeyring(wrong);
    } catch (error) {
      expect(inspect(error)).not.toContain(wrong.slice(0, 12));
    }
  });

  test("print nothing of themselves", () => {
    const printed = inspect(parseKeyring(bytes(0x41)), { depth: 9, showHidden: true });
    expect(printed).not.toMatch(/QUFB|4141|AAAA|0x41, 0x41/);
    expect(JSON.stringify(parseKeyring(bytes(0x41)))).not.toMatch(/QUFB|AAAA/);
  });
});
