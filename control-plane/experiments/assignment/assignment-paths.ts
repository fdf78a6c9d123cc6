import { describeAssignments } from '../../../shared/experiments/describe-assignments.ts';

/** The experiment endpoints, by path, as the OpenAPI document shows them. */
export const assignmentPaths = describeAssignments({
  prefix: '',
  keyName: 'key',
  members: { tags: ['Experiment assignments'], security: [] },
  failures: { 500: 'Internal error; the answer carries x-request-id.' },
});
