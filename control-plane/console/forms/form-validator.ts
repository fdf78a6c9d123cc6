import { Validator } from '@cfworker/json-schema';
import type { Schema } from '@cfworker/json-schema';
import { toErrorSchema } from '@rjsf/utils';
import type { RJSFSchema, RJSFValidationError, ValidationData, ValidatorType } from '@rjsf/utils';

/**
 * Validates forms without generating code, which the page's content security policy forbids. Ajv, the form library's
 * usual validator, generates code.
 */
export const formValidator: ValidatorType = {
  validateFormData(formData, schema, _custom, transformErrors): ValidationData<unknown> {
    const found = check(schema, formData);
    const errors = transformErrors === undefined ? found : transformErrors(found);
    return { errors, errorSchema: toErrorSchema(errors) };
  },
  isValid: (schema, formData) => new Validator(schema as Schema, '2020-12').validate(plain(formData)).valid,
  rawValidation: (schema, formData) => ({ errors: check(schema, formData) as never[] }),
};

function check(schema: RJSFSchema, formData: unknown): RJSFValidationError[] {
  const { errors } = new Validator(schema as Schema, '2020-12', false).validate(plain(formData));
  return errors.flatMap(({ keyword, instanceLocation, error }): RJSFValidationError[] => {
    // An error that only points to a nested error adds nothing.
    if (keyword === 'properties' || keyword === 'items') return [];
    const missing = keyword === 'required' ? /"([^"]+)"/.exec(error)?.[1] : undefined;
    const path = instanceLocation
      .replace(/^#\/?/, '')
      .split('/')
      .filter((part) => part !== '');
    const property = `.${[...path, ...(missing === undefined ? [] : [missing])].join('.')}`;
    const message = missing === undefined ? error : 'is required';
    return [{ name: keyword, property, message, stack: `${property} ${message}` }];
  });
}

/** The values as they would be sent in JSON: without emptied fields, which are undefined. */
function plain(formData: unknown): unknown {
  return JSON.parse(JSON.stringify(formData ?? null)) as unknown;
}
