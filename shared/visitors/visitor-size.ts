import { count } from '../runtime/variables.ts';

const kibibyte = 1024;

/** Size limit of a profile, for resolvers and for merges through the API. */
export const visitorSizeEnv = {
  VISITOR_BYTES_MAX: count(
    "Maximum size of a visitor's properties as JSON. A change that exceeds it is skipped and the profile stays unchanged; a merge through the API is refused. Set the same for pipelines and control planes",
    32 * kibibyte,
    { unit: 'bytes', minimum: kibibyte, maximum: 128 * kibibyte },
  ),
};
