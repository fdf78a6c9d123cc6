import { count } from '../runtime/variables.ts';

/** The longest time back the console offers, in hours. */
const weekHours = 7 * 24;
/** The bucket these counts stand in forgets what was not written for longer, in hours. */
const bucketHours = 30 * 24;

export const activityEnv = {
  ACTIVITY_HOURS_KEPT: count(
    'For how many hours the events of each source, the attempts at each destination and the time events waited to be ' +
      'resolved are kept by the hour: what the console shows beyond a day. A source takes up to 50 bytes an hour and ' +
      'gateway, a destination 40 an hour and pipeline',
    weekHours,
    { minimum: 24, maximum: bucketHours },
  ),
};
