package intake

// FileName is fileName, for tests.
var FileName = fileName
