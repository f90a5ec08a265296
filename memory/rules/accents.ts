/**
 * Marks that make no other word, for a class of a regular expression: accents of Latin, Greek and Cyrillic letters,
 * points of Hebrew and Arabic, and the stroke that lengthens an Arabic letter. Marks of other scripts are letters of a
 * word, such as vowels of Hindi and tones of Thai.
 */
export const ACCENTS =
  "\\u0300-\\u036f\\u0591-\\u05bd\\u05bf\\u05c1\\u05c2\\u05c4\\u05c5\\u05c7\\u0640\\u064b-\\u065f\\u0670";
