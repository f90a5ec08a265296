/**
 * What keeps the key index current has connections to itself, so that slow searches cannot let the lease run out. It
 * uses one at a time; the others are for when the network swallows what is sent: the head is asked for by another one
 * each half second, and it takes 5 to 10 s until one is known to be dead. One is kept: with a long lease it is in use
 * every 12 s.
 *
 * Each plans a statement once: to plan the reading of a change takes many times as long as to read it, and each replica
 * would do so for the first five changes of each connection.
 */
export const FEED_CONNECTIONS = { maxConnections: 8, keepsOne: true, genericPlans: true };
