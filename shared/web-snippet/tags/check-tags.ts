import type { FieldProblem } from '../../contracts/config/define-collection.ts';
import { problemsOf } from '../../routing/values/plan-error.ts';
import { compilePageLogic } from './compile-page-logic.ts';
import { urlParts } from './tag-words.ts';

/** A variable in a template: `{{Cart total}}`. */
const variableForm = /\{\{\s*([^{}]+?)\s*\}\}/g;

/** Names of the variables of a template. */
export const variablesOf = (template: string): readonly string[] =>
  [...template.matchAll(variableForm)].map(([, name = '']) => name);

export type TagFields = {
  readonly type: string;
  readonly content: string;
  readonly integrity: string | null;
  readonly properties: readonly { readonly name: string; readonly value: string }[];
};

/** Problems of a tag that the schema of tags does not detect; empty if there are none. */
export function checkTag({ type, content, integrity, properties }: TagFields): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  const add = (field: string, problem: string): void => void problems.push({ field, problem });
  if (integrity !== null && type !== 'ScriptSource') add('integrity', 'is only for a ScriptSource');
  if (properties.length > 0 && type !== 'TrackEvent') add('properties', 'are only for a TrackEvent');
  switch (type) {
    case 'CustomHtml':
      add('type', 'must not be CustomHtml, which pages do not run: use CustomScript, ScriptSource or ImagePixel');
      break;
    case 'CustomScript':
      if (content.trim() === '') add('content', 'must be a script');
      if (content.includes('{{')) {
        add(
          'content',
          'must not hold {{ }}: the value of a variable in a script would run as code. Read it in the script itself',
        );
      }
      break;
    case 'ScriptSource':
      if (!/^https:\/\/[^/{}]+\/[^{}]*$/.test(content) || !URL.canParse(content)) {
        add('content', 'must be an https URL without {{ }}: a visitor must not choose which script runs');
      }
      break;
    case 'ImagePixel':
      if (!/^https:\/\/[^/{}?#]+(\/|$)/.test(content) || !URL.canParse(content.replaceAll(variableForm, 'x'))) {
        add('content', 'must be an https URL without {{ }} in its host; {{Name}} may follow the host');
      }
      break;
    case 'TrackEvent':
      if (content.trim() === '' || content.length > 1_000 || content.startsWith('$') || content.includes('{{')) {
        add('content', 'must be the name of an event: 1 to 1,000 characters, not beginning with $, without {{ }}');
      }
  }
  return problems;
}

export type TriggerFields = {
  readonly type: string;
  readonly eventName: string | null;
  readonly selector: string | null;
  readonly threshold: number | null;
  readonly intervalMs: number | null;
  readonly logic: unknown;
};

/** Problems of a trigger that the schema of triggers does not detect; empty if there are none. */
export function checkTrigger(trigger: TriggerFields): readonly FieldProblem[] {
  const { type, eventName, selector, threshold, intervalMs, logic } = trigger;
  const problems: FieldProblem[] = logic === null ? [] : [...problemsOf(() => compilePageLogic(logic))];
  const needs = (field: string, value: unknown, types: readonly string[], isRequired: boolean): void => {
    if (isRequired && types.includes(type) && value === null)
      problems.push({ field, problem: `is required for a ${type}` });
    if (!types.includes(type) && value !== null)
      problems.push({ field, problem: `is only for ${types.join(' and ')}` });
  };
  needs('eventName', eventName, ['CustomEvent'], true);
  needs('selector', selector, ['Click', 'FormSubmission'], false);
  needs('threshold', threshold, ['ScrollDepth'], true);
  needs('intervalMs', intervalMs, ['Timer'], true);
  return problems;
}

export type VariableFields = { readonly name: string; readonly type: string; readonly value: string };

/** Problems of a variable that the schema of variables does not detect; empty if there are none. */
export function checkVariable({ name, type, value }: VariableFields): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  if (/[{}]/.test(name))
    problems.push({ field: 'name', problem: 'must not hold { or }: templates name variables as {{Name}}' });
  if (type !== 'Constant' && value.trim() === '')
    problems.push({ field: 'value', problem: `is required for a ${type}` });
  if (type === 'UrlPart' && !(urlParts as readonly string[]).includes(value)) {
    problems.push({ field: 'value', problem: `must be one of ${urlParts.join(', ')} for a UrlPart` });
  }
  if (type === 'Script' && !/^[A-Za-z_$][\w$]*(\.[\w$]+)*$/.test(value)) {
    const problem =
      'must be the dotted path of a global for a Script, such as Shop.cart.total: a script is not evaluated';
    problems.push({ field: 'value', problem });
  }
  return problems;
}
