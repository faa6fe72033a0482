// Checks T-SQL by Microsoft's own parser and schema compiler, which the wheel mssql-cli brings: see .ci/tsql.
//
//     check parse FILE…     each file is text that ds2 sends, in batches between lines GO: as 2016, 2017 and 2019 parse it
//     check model FILE…     all files are one database: each name must be there
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text.RegularExpressions;
using Microsoft.SqlServer.Dac.Model;
using Microsoft.SqlServer.TransactSql.ScriptDom;

static class Check {
    static int faults;

    static void Fault(string file, int line, string text, string message) {
        faults++;
        string[] lines = text.Split('\n');
        Console.WriteLine("{0}:{1}: {2}", Path.GetFileName(file), line, message);
        Console.WriteLine("    " + lines[Math.Min(Math.Max(line, 1), lines.Length) - 1].Trim());
    }

    static int Main(string[] args) {
        string[] files = args.Skip(1).SelectMany(a => File.Exists(a)
            ? new string[] { a } : Directory.GetFiles(a, "*.sql").OrderBy(f => f).ToArray()).ToArray();
        try {
            if (args[0] == "parse") Parse(files); else Model(files);
        } catch (Exception e) {
            Console.WriteLine(e);
            return 2;
        }
        Console.WriteLine("{0}: {1} files, {2} faults", args[0], files.Length, faults);
        return faults == 0 ? 0 : 1;
    }

    static void Parse(string[] files) {
        TSqlParser[] parsers = { new TSql130Parser(true), new TSql140Parser(true), new TSql150Parser(true) };
        foreach (string file in files) {
            string text = File.ReadAllText(file);
            foreach (TSqlParser parser in parsers) {
                IList<ParseError> errors;
                parser.Parse(new StringReader(text), out errors);
                // A clause of 2019 that this parser of 2020 does not know.
                var wrong = errors.Where(e => !text.Contains("ACCELERATED_DATABASE_RECOVERY")).ToList();
                foreach (ParseError e in wrong) Fault(file, e.Line, text, parser.GetType().Name + ": " + e.Message);
                if (wrong.Count > 0) break;
            }
        }
    }

    // What a model has no object of, and what only says that it is there.
    static readonly Regex notModelled = new Regex(
        "^(Backup|Restore|Use|Dbcc|Kill|Grant|(Create|Alter|Drop)(Database(?!AddFileGroup)|Login|User|Role|Authorization|ServerRole)|Checkpoint)");
    static readonly Regex system = new Regex(@"\b(msdb\.dbo|tempdb\.sys|(?<!master\.)sys)\.(?!sp_|fn_)");

    static void Model(string[] files) {
        var seen = new HashSet<string>();
        var options = new TSqlModelOptions();
        using (TSqlModel model = new TSqlModel(SqlServerVersion.Sql150, options)) {
            int number = 0;
            foreach (string file in files) {
                string text = File.ReadAllText(file);
                if (!Path.GetFileName(file).StartsWith("standins")) text = system.Replace(text, "ds2sys.");
                foreach (string batch in Regex.Split(text, @"^GO\s*$", RegexOptions.Multiline)) {
                    string sql = Wrap(batch, ++number);
                    Match table = Regex.Match(batch, @"^CREATE TABLE \w+", RegexOptions.Multiline); // both workloads have two
                    if (sql == null || !seen.Add(table.Success ? table.Value : batch.Trim())) continue;
                    try {
                        model.AddOrUpdateObjects(sql, Path.GetFileName(file) + "." + number + ".sql", new TSqlObjectOptions());
                    } catch (DacModelException e) {
                        Fault(file, 1, batch, e.Message);
                    }
                }
            }
            Overflows(files);
            foreach (DacModelMessage m in model.Validate()) {
                if (m.MessageType.ToString() != "Error") continue;
                faults++;
                Console.WriteLine(m);
            }
        }
    }

    // Overflows finds a column of type int, by the stand-ins, that is multiplied as it is.
    static void Overflows(string[] files) {
        var ints = new HashSet<string>(Regex.Matches(File.ReadAllText(files[0]), @"CAST\(0 AS int\) AS (\w+)")
            .Cast<Match>().Select(m => m.Groups[1].Value));
        foreach (string file in files.Skip(1)) {
            string text = File.ReadAllText(file);
            foreach (Match m in Regex.Matches(text, @"(\w+)\s*\*\s*\d{3,}")) {
                if (ints.Contains(m.Groups[1].Value))
                    Fault(file, text.Substring(0, m.Index).Count(c => c == '\n') + 1, text, m.Value + " is of type int, and may overflow");
            }
        }
    }

    // Wrap gives a batch that makes an object as it is, and makes a procedure of any other.
    static string Wrap(string batch, int number) {
        IList<ParseError> errors;
        var script = new TSql150Parser(true).Parse(new StringReader(batch), out errors) as TSqlScript;
        if (script == null || errors.Count > 0) return null; // parse says so
        var kinds = script.Batches.SelectMany(b => b.Statements).Select(s => s.GetType().Name).ToList();
        if (kinds.Count == 0 || kinds.Any(k => notModelled.IsMatch(k)) || batch.Contains("babelfish")) return null;
        if (kinds.All(k => k.StartsWith("Create") || k.StartsWith("AlterTableAdd") || k == "AlterDatabaseAddFileGroupStatement")) return batch;
        Match parameters = Regex.Match(batch, @"^-- parameters: (.+)$", RegexOptions.Multiline);
        return "CREATE PROCEDURE dbo.ds2_check_" + number + " " + (parameters.Success ? parameters.Groups[1].Value : "") + " AS\n" + batch;
    }
}
