/**
 * For how many hours the events of each source, the attempts at each destination and the time events waited to be resolved
 * are kept by the hour: a week, the longest time back that the console offers. A source takes up to 50 bytes an hour and
 * gateway, a destination 40 an hour and pipeline.
 */
export const activityHoursKept = 7 * 24;
