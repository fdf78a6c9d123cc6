/**
 * Hours for which activity is kept (events of each source, attempts at each destination, waiting times of the
 * resolver): a week, the longest range that the console offers. A source takes up to 50 bytes per hour and gateway, a
 * destination up to 40 bytes per hour and pipeline.
 */
export const activityHoursKept = 7 * 24;
