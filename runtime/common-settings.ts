import { isIP } from "node:net";
import { DAY_MS, parseDuration } from "../domain/duration.ts";
import { LOG_LEVELS, type LogLevel } from "./log-level.ts";
import { optional, withDefault } from "./settings.ts";

const MIN_RETENTION_MS = 3_600_000;

/** Text that completes "must be", for an address to listen on. */
export const IP_ADDRESS = "an IP address to listen on, such as 127.0.0.1, 0.0.0.0 or ::";

/** Address of the admin listener. It is no name, because a name may stand for several sockets. */
export const ADMIN_HOST = withDefault("127.0.0.1", {
  takes: "<address>",
  help: "the admin listener's address",
  parse: address,
  wanted: IP_ADDRESS,
});

export const ADMIN_PORT = withDefault("8081", {
  takes: "<port>",
  help: "the admin listener's port, for /metrics, /healthz and /readyz",
  parse: port,
  wanted: "a port from 0 to 65535; 0 takes a free one",
});

/** Milliseconds for which the audit log and the last uses of ended versions are kept. */
export const AUDIT_RETENTION = withDefault("90d", {
  takes: "<duration>",
  help: "how long the audit log and the last uses of ended versions are kept",
  parse: retention,
  wanted: "a duration from an hour to 99999 days, such as 90d or 2160h",
});

/** Lowest level of messages that are logged. */
export const LOG_LEVEL = withDefault<LogLevel>("info", {
  takes: "<level>",
  help: `the lowest level to log: ${LOG_LEVELS.join(", ")}`,
  parse: (text) => LOG_LEVELS.find((level) => level === text),
  wanted: "debug, info, warn or error",
});

/** Returns the setting for the URL at which clients reach the server. */
export function publicUrl(help: string) {
  return optional({
    takes: "<url>",
    help,
    parse: originUrl,
    wanted: "an http or https URL without a query, such as https://keys.example.com",
  });
}

/** Parses an IP address to listen on; `localhost` is 127.0.0.1. */
export function address(text: string): string | undefined {
  if (text === "localhost") return "127.0.0.1";
  return isIP(text) === 0 ? undefined : text;
}

export function port(text: string): number | undefined {
  return /^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : undefined;
}

/** Parses a duration in the form that declarations have, to milliseconds. */
export function duration(text: string): number | undefined {
  try {
    return parseDuration(text);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Parses a number of days, or a duration in the form that declarations have, of at least an hour, to milliseconds. */
export function retention(text: string): number | undefined {
  const days = /^(\d{1,5})d$/.exec(text)?.[1];
  const ms = days === undefined ? duration(text) : Number(days) * DAY_MS;
  return ms !== undefined && ms >= MIN_RETENTION_MS ? ms : undefined;
}

function originUrl(text: string): URL | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  const isPlain = url.search === "" && url.hash === "" && url.username === "" && url.password === "";
  return isPlain && (url.protocol === "http:" || url.protocol === "https:") ? url : undefined;
}
