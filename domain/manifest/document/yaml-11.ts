/**
 * Scalars that YAML 1.1, as kubectl reads it, and YAML 1.2, as we and JSON tools read it, take for different values.
 * The
 * messages do not quote the value, which may be a Secret's.
 */
const SURPRISES: readonly (readonly [RegExp, string])[] = [
  [
    /^(y|Y|yes|Yes|YES|n|N|no|No|NO|on|On|ON|off|Off|OFF)$/,
    "kubectl reads this as a boolean (YAML 1.1): write it in quotes, or write true or false",
  ],
  [
    /^[-+]?0[0-7_]*[0-7]$/,
    "kubectl reads this as an octal number (YAML 1.1): write it in quotes, or without the leading zero",
  ],
  [
    /^[-+]?(0b[01_]+|0x[0-9a-fA-F]*_[0-9a-fA-F_]*|[0-9][0-9]*_[0-9_]*(\.[0-9_]*)?)$/,
    "kubectl reads this as a number (YAML 1.1): write it in quotes, or the number in plain digits",
  ],
  [
    /^[-+]?[0-9]{1,9}(:[0-5]?[0-9]){1,9}(\.[0-9]*)?$/,
    "readers of YAML 1.1 take this for a number of base 60: write it in quotes",
  ],
];

/** Returns the message for a plain scalar that YAML 1.1 takes for another value; undefined for any other. */
export function yaml11Surprise(source: string): string | undefined {
  return SURPRISES.find(([pattern]) => pattern.test(source))?.[1];
}
