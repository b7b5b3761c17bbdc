// SPDX-License-Identifier: MIT
// Rules against mistakes; formatting is Prettier's.
import js from '@eslint/js';
import tseslint from 'typescript-eslint';

// What the scripts of tests/ use of Node and, inside page.evaluate, of the browser.
const GLOBALS =
  'Blob Buffer CSS DataTransfer Event File KeyboardEvent MouseEvent Node PointerEvent SVGElement URL ' +
  'WheelEvent ' +
  'XMLSerializer clearTimeout console document fetch getComputedStyle history innerHeight ' +
  'innerWidth location matchMedia navigator performance process requestAnimationFrame ' +
  'sessionStorage localStorage setTimeout structuredClone window';

const MISTAKES = {
  eqeqeq: 'error',
  'array-callback-return': 'error',
  'default-case-last': 'error',
  'no-lonely-if': 'error',
  'no-self-compare': 'error',
  'no-template-curly-in-string': 'error',
  'no-unneeded-ternary': 'error',
  'no-unreachable-loop': 'error',
  'no-useless-rename': 'error',
  'no-var': 'error',
  'object-shorthand': 'error',
  'prefer-const': 'error',
};

const TYPED = {
  // The compiler asks for `!` behind every index (noUncheckedIndexedAccess): the loops over columns
  // of the same length are full of them.
  '@typescript-eslint/no-non-null-assertion': 'off',
  // `return say(...)` ends a handler early.
  '@typescript-eslint/no-confusing-void-expression': [
    'error',
    { ignoreArrowShorthand: true, ignoreVoidReturningFunctions: true },
  ],
  '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
  // A column that is read from bytes has the type that the caller claims.
  '@typescript-eslint/no-unnecessary-type-parameters': 'off',
  // ["key"] says that the key is the server's or a file's, and may be missing.
  '@typescript-eslint/dot-notation': ['error', { allowIndexSignaturePropertyAccess: true }],
  '@typescript-eslint/switch-exhaustiveness-check': [
    'error',
    { considerDefaultExhaustiveForUnions: true },
  ],
};

export default tseslint.config(
  { ignores: ['dist/', 'node_modules/'] },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  js.configs.recommended,
  {
    files: ['**/*.mjs'],
    languageOptions: {
      globals: Object.fromEntries(GLOBALS.split(' ').map(name => [name, 'readonly'])),
    },
  },
  {
    files: ['**/*.{ts,tsx,mts}'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { project: './tsconfig.json' } },
    rules: TYPED,
  },
  { rules: MISTAKES },
);
