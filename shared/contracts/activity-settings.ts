/**
 * Hours for which activity is kept: events of each source, attempts at each destination, and waiting times of the
 * resolver. A week is the longest range that the console offers. A source takes up to 50 bytes per hour and gateway, a
 * destination up to 40 bytes per hour and pipeline.
 */
export const activityHoursKept = 7 * 24;
