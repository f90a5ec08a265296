import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isSubject, meantSubject } from "../../../domain/access/subject.ts";

const ALPHABET = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._@:+=/|-"];
const subject = fc.string({ unit: fc.constantFrom(...ALPHABET), minLength: 1, maxLength: 128 });
const rule = fc.oneof(
  fc.constant(null),
  fc.constant({ mode: "Required" } as const),
  subject.map((name) => ({ mode: "Bound", subject: name }) as const),
);
const text = fc.oneof(subject, fc.string(), fc.constantFrom("", " ", "*", "a,b", "a b", "ä", "a\u0000", "\u202ea"));

describe("Whose memory a call means", () => {
  const holds = <Given extends unknown[]>(property: fc.IProperty<Given>) => fc.assert(property);

  test("is the one that it names, where its key has each call name one", () => {
    holds(
      fc.property(subject, (name) => {
        expect(meantSubject({ mode: "Required" }, [name])).toEqual({ subject: name });
      }),
    );
  });

  test("is the one that its key is bound to, whether it says so or not, and never another", () => {
    holds(
      fc.property(subject, subject, (own, other) => {
        const bound = { mode: "Bound", subject: own } as const;
        expect([meantSubject(bound, []), meantSubject(bound, [own])]).toEqual([{ subject: own }, { subject: own }]);
        expect(meantSubject(bound, [other])).toEqual(own === other ? { subject: own } : { fault: "another" });
      }),
    );
  });

  test("b120: is never read from what is not one plain value", () => {
    holds(
      fc.property(rule, fc.array(text, { maxLength: 3 }), (of, named) => {
        const meant = meantSubject(of, named);
        if ("fault" in meant || named.length === 0) return;
        expect(of).not.toBeNull();
        expect(named).toEqual([meant.subject]);
        expect(isSubject(named[0] ?? "")).toBe(true);
      }),
    );
  });

  test("is everybody's only where the key has no rule and nothing is named", () => {
    holds(
      fc.property(rule, fc.array(text, { maxLength: 3 }), (of, named) => {
        const meant = meantSubject(of, named);
        const isShared = "subject" in meant && meant.subject === undefined;
        expect(isShared).toBe(of === null && named.length === 0);
      }),
    );
  });

  test.each(["auth0|5f7c8ec7c33c6c004bbafe82", "google-oauth2|103547991597142817347", "waad|a.b@example.com"])(
    "is also the subject of an identity provider such as %s",
    (sub) => expect(isSubject(sub)).toBe(true),
  );

  test("has a length that every name of a user has room in, and no more", () => {
    expect([isSubject("u".repeat(128)), isSubject("u".repeat(129)), isSubject("")]).toEqual([true, false, false]);
  });
});
