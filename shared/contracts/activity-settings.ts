/**
 * Hours for which the events of each source, the attempts at each destination and the waiting times of the resolver are
 * kept: a week, the longest range that the console offers. A source takes up to 50 bytes an hour and gateway, a
 * destination 40 an hour and pipeline.
 */
export const activityHoursKept = 7 * 24;
