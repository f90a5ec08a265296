import { it, type TestFunction } from "vitest";
import { NIGHTLY } from "./nightly.ts";

/** Declares a test that runs at full length alone: another one, or a lower level, holds its promise by day. */
export const itByNight: (name: string, run: TestFunction) => void = NIGHTLY ? it : () => {};
